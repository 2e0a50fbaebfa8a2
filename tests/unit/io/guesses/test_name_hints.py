"""Names of columns in several languages and spellings: what they suggest, and what they must not."""

from __future__ import annotations

import pytest

from betalike.io.guesses.vocabulary import IDENTIFYING, PRIVATE, NameHint, names_a_code, read_name

IDENTIFIERS = """
    next_of_kin emergency_contact bank_acct numero_dossier nro_documento naam sukunimi prijmeni soyad matricola
    mrn MRN medical_record_number patient_name PatientName pat_name email e-mail EmailAddress first_name lastName
    LASTNAME surname maiden_name full_name name Name street_address HomeAddress addr address_line_1
    insurance_number InsuranceNo policyNumber account_number acct_no phone phone_number mobile cell_phone
    telephone fax ip ip_address IPAddress mac_address ssn SSN social_security_number passport passport_no
    drivers_license national_id tax_id iban credit_card_no user_id userId customer_no employee_id student_number
    member_id subject_id participant_id record_id case_id uuid device_id username login vorname Nachname
    Familienname Straße Hausnummer Telefonnummer Kontonummer Steuernummer Personalausweis Patientennummer
    Kundennummer Versichertennummer prenom nom_de_famille courriel adresse telephone_portable numero_secu nombre
    apellidos direccion telefono correo_electronico dni cedula nome cognome codice_fiscale indirizzo cpf sobrenome
    endereco voornaam achternaam adres bsn klantnummer imie nazwisko pesel personnummer efternamn
    name_last NAME_FIRST Name1 NAME_L FIRST Last pt_last LAST_NM GIVN_NM nm_first PT_NM name_family 姓名 Фамилия
    Krankenkassennummer Krankenversicherungsnummer
"""
NOT_IDENTIFIERS = """
    age sex gender zip city country education occupation diagnosis income salary hospital_name city_name
    product_name postal_code icd_code number_of_children n_children num_rooms birth_date date_of_birth
    marital_status race school_id drug_name name_of_school first_visit last_visit wavelength_nm
"""
PRIVATES = """
    primary_dx psych_history substance_use alimony bankruptcy
    diagnosis hiv_status HIVStatus disease income annual_income salary AnnualSalary wage religion
    sexual_orientation debt credit_score medication treatment Diagnose Krankheit Einkommen Gehalt Religion maladie
    salaire revenu enfermedad sueldo malattia stipendio inkomen exam_score gpa net_worth criminal_record
    conviction political_party loan_amount test_result
"""


@pytest.mark.parametrize("name", IDENTIFIERS.split())
def test_names_of_identifiers(name: str) -> None:
    hints = read_name(name)
    assert hints
    assert hints[0] in IDENTIFYING


@pytest.mark.parametrize("name", NOT_IDENTIFIERS.split())
def test_names_that_identify_nobody(name: str) -> None:
    hints = read_name(name)
    assert not hints or hints[0] not in IDENTIFYING or NameHint.UNIT in hints


@pytest.mark.parametrize("name", PRIVATES.split())
def test_names_of_private_things(name: str) -> None:
    assert read_name(name)[0] in PRIVATE


def test_codes_and_amounts() -> None:
    assert [
        name for name in ("sex", "gender", "zip", "region", "occ_code", "siteid", "race") if not names_a_code(name)
    ] == []
    assert [name for name in ("age", "children", "year_group", "age_class", "height") if names_a_code(name)] == []
